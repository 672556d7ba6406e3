package front

import (
	"math/bits"
	"sync"
)

// Request bodies live in slabs of eight sizes to each doubling, so that at most
// an eighth of a slab is waste and one slab serves many requests.
const (
	minSlabBits = 12 // 4 KiB
	stepBits    = 3
	// maxKeptSlab is the largest slab that is kept; larger bodies are rare.
	maxKeptSlab = 8 << 20
)

type slab struct{ bytes []byte }

// slabs are pools by size class. Unused slabs go with the garbage collector.
type slabs struct {
	classes [(24 - minSlabBits) << stepBits]sync.Pool
}

// take gives a slab whose bytes have length n and undefined content.
func (s *slabs) take(n int) *slab {
	class, size := slabClass(n)
	if size > maxKeptSlab {
		return &slab{make([]byte, n)}
	}
	if kept, ok := s.classes[class].Get().(*slab); ok {
		kept.bytes = kept.bytes[:n]
		return kept
	}
	return &slab{make([]byte, n, size)}
}

// give takes a slab back; nobody may hold on to its bytes.
func (s *slabs) give(used *slab) {
	class, size := slabClass(cap(used.bytes))
	if size == cap(used.bytes) && size <= maxKeptSlab {
		s.classes[class].Put(used)
	}
}

// slabClass is the number and the size of the smallest class that holds n bytes.
func slabClass(n int) (class, size int) {
	if n <= 1<<minSlabBits {
		return 0, 1 << minSlabBits
	}
	shift := bits.Len(uint(n-1)) - 1 - stepBits
	steps := (n-1)>>shift + 1 // 9 to 16 eighths of the power of two below
	return (shift-(minSlabBits-stepBits))<<stepBits + steps - 1<<stepBits, steps << shift
}
