package heapdelta

// What dlmalloc has in front of and in its chunks. Addresses here are those of the header, the word in front of what malloc
// gives. A free chunk also has its size in the word in front of the next header.
const (
	chunkAlign = 16
	prevInUse  = 1
	inUse      = 2
	flagBits   = 7
	freeFields = 28 // from the header on, a free chunk has links of lists and trees
	topFoot    = 64 // behind the last chunk is less than this
)

// DropFree makes the free memory of the heap what it was in the image, so that what programs have left there is not in the
// delta: often most of it. Programs do not see the difference, as what is free has no value. Block is an address that
// malloc gave when the image was made and that is still in use; what lies in front of it stays as it is. Memory may be
// anything: where the heap makes no sense, DropFree ends. It takes some 3 ns for each chunk of the heap.
func DropFree(image, memory []byte, block int) {
	at := block - 4
	for at >= 0 && at+4 <= len(memory) {
		header := le.Uint32(memory[at:])
		size := int(header &^ flagBits)
		next := at + size
		if size < chunkAlign || size%chunkAlign != 0 || next > len(memory)-4 {
			return
		}
		// Two free chunks never touch.
		if header&(inUse|prevInUse) == prevInUse && (next > len(memory)-topFoot ||
			le.Uint32(memory[next:])&prevInUse == 0 && int(le.Uint32(memory[next-4:])) == size) {
			if from, to := at+freeFields, next-4; from < to {
				if from < len(image) {
					from += copy(memory[from:to], image[from:])
				}
				clear(memory[from:to])
			}
		}
		at = next
	}
}
