//go:build !windows && (!unix || aix || solaris || illumos)

package engine

// reserveMemory takes the whole capacity from Go's heap, where the system has no better way.
func reserveMemory(n int) ([]byte, error) { return make([]byte, n), nil }

func commitMemory([]byte, int) error { return nil }

func releaseMemory([]byte) {}
