package codemode

// ImageSize is the memory of a live VM at rest.
func ImageSize(rt *Runtime) int { return rt.plain.Size() }

// SnapshotSize is what is kept of a waiting cell's memory.
func SnapshotSize(rt *Runtime, id string) int { return rt.parking.places[id].cell.snapshot.Size() }
