package engine

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// reserveMemory reserves n bytes of address space, without any memory behind it yet.
func reserveMemory(n int) ([]byte, error) {
	p, err := windows.VirtualAlloc(0, uintptr(n), windows.MEM_RESERVE, windows.PAGE_READWRITE)
	if err != nil {
		return nil, err
	}
	// VirtualAlloc answers with an address, and the only way from there to a slice is this
	// conversion. The block is outside Go's heap and does not move.
	return unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&p))), n), nil
}

// commitMemory puts memory behind b, whose first have bytes have it already.
func commitMemory(b []byte, have int) error {
	if len(b) == have {
		return nil
	}
	_, err := windows.VirtualAlloc(uintptr(unsafe.Pointer(&b[have])), uintptr(len(b)-have), windows.MEM_COMMIT, windows.PAGE_READWRITE)
	return err
}

func releaseMemory(b []byte) {
	_ = windows.VirtualFree(uintptr(unsafe.Pointer(unsafe.SliceData(b))), 0, windows.MEM_RELEASE)
}
