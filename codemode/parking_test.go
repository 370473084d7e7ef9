package codemode

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// One timer ends all places when their time is over, those that were claimed in between among them, and stops when there are none.
func TestParkingSweeper(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := parking{slots: 10, ttl: 10 * time.Second, places: map[string]*place{}}
		e := &Executor{}
		park := func(id string) {
			if err := p.reserve(t.Context(), time.Now()); err != nil {
				t.Fatal(err)
			}
			c := &cell{executor: e, ctx: t.Context()}
			c.id = id
			if !p.park(c, true) {
				t.Fatal("not parked")
			}
		}
		check := func(taken, waiting int, timer bool) {
			t.Helper()
			synctest.Wait()
			p.mu.Lock()
			defer p.mu.Unlock()
			if p.taken != taken || p.waiting != waiting || len(p.places) != taken || (p.sweeper != nil) != timer {
				t.Errorf("%d slots are taken, %d places of %d wait, a timer %t; want %d, %d, %t", p.taken, p.waiting, len(p.places), p.sweeper != nil, taken, waiting, timer)
			}
		}
		check(0, 0, false)
		park("a")
		time.Sleep(4 * time.Second)
		park("b")
		check(2, 2, true)
		time.Sleep(6 * time.Second)
		check(1, 1, true)
		time.Sleep(4 * time.Second)
		check(0, 0, false)

		park("c")
		time.Sleep(9 * time.Second)
		if _, found, err := p.claim(e, "c"); !found || err != nil {
			t.Fatalf("claimed: %t, %v", found, err)
		}
		time.Sleep(5 * time.Second) // the sweeper came, and found nobody who waits
		check(1, 0, false)
		if _, _, err := p.claim(e, "c"); !errors.Is(err, ErrResuming) {
			t.Errorf("claimed twice: %v", err)
		}
		p.unclaim("c") // its time is over
		check(0, 0, false)

		park("d")
		time.Sleep(9 * time.Second)
		_, _, _ = p.claim(e, "d")
		p.unclaim("d")
		p.unclaim("d") // changes nothing
		check(1, 1, true)
		p.close()
	})
}
