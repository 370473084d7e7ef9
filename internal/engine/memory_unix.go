//go:build unix && !aix && !solaris && !illumos

package engine

import "syscall"

// reserveMemory maps n bytes that read as zero and take no memory until they are written.
func reserveMemory(n int) ([]byte, error) {
	return syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
}

// commitMemory has nothing to do: the system backs a mapped page when it is first written.
func commitMemory([]byte, int) error { return nil }

func releaseMemory(b []byte) { _ = syscall.Munmap(b) }
