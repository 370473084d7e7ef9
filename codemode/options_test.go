package codemode

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestOptionsLimits(t *testing.T) {
	t.Parallel()
	defaults := limits{timeout: 10 * time.Second, memory: 64 << 20, output: 64 << 10, inbox: 10 << 20, maxPending: 16,
		snapshot: 10 << 20, snapshotTTL: 900 * time.Second, maxSuspended: 64, lease: 5 * time.Second, search: 8, maxSearched: 50}
	with := func(change func(*limits)) limits {
		l := defaults
		change(&l)
		return l
	}
	for _, test := range []struct {
		options Options
		want    limits
	}{
		{Options{}, defaults},
		{Options{Timeout: -1, MemoryLimitBytes: -1, MaxOutputBytes: -1, MaxSnapshotBytes: -1, MaxPendingToolCalls: -1}, defaults},
		{Options{SnapshotTTL: 1}, with(func(l *limits) { l.snapshotTTL = time.Second })},
		{Options{SnapshotTTL: time.Hour * 100}, with(func(l *limits) { l.snapshotTTL = 24 * time.Hour })},
		{Options{MaxSuspended: 3, CellLease: time.Minute}, with(func(l *limits) { l.maxSuspended, l.lease = 3, time.Minute })},
		{Options{MaxSuspended: 1 << 30, CellLease: 1}, with(func(l *limits) { l.maxSuspended, l.lease = 1<<16, 100*time.Millisecond })},
		{Options{MaxSuspended: -1, CellLease: 24 * time.Hour}, with(func(l *limits) { l.lease = time.Hour })},
		{Options{MaxSearchLimit: 5}, with(func(l *limits) { l.maxSearched, l.search = 5, 5 })},
		{Options{MaxSearchLimit: 500, SearchDefaultLimit: 500}, with(func(l *limits) { l.search = 50 })},
		{Options{Timeout: 1}, with(func(l *limits) { l.timeout = 100 * time.Millisecond })},
		{Options{Timeout: time.Hour}, with(func(l *limits) { l.timeout = time.Minute })},
		{Options{MemoryLimitBytes: 1}, with(func(l *limits) { l.memory, l.inbox = 1<<20, 1<<20 })},
		{Options{MemoryLimitBytes: 1 << 40}, with(func(l *limits) { l.memory = 1 << 30 })},
		{Options{MaxOutputBytes: 1}, with(func(l *limits) { l.output = 1024 })},
		{Options{MaxOutputBytes: 1 << 40}, with(func(l *limits) { l.output = 10 << 20 })},
		{Options{MaxSnapshotBytes: 1}, with(func(l *limits) { l.inbox, l.snapshot = 1024, 1024 })},
		{Options{MaxSnapshotBytes: 1 << 40}, with(func(l *limits) { l.inbox, l.snapshot = 64<<20, 256<<20 })},
		{Options{MaxSnapshotBytes: 1 << 40, MemoryLimitBytes: 1 << 40}, with(func(l *limits) { l.memory, l.inbox, l.snapshot = 1<<30, 256<<20, 256<<20 })},
		{Options{MaxPendingToolCalls: 129}, with(func(l *limits) { l.maxPending = 128 })},
		{Options{Timeout: time.Second, MemoryLimitBytes: 2 << 20, MaxOutputBytes: 2000, MaxSnapshotBytes: 3000, MaxPendingToolCalls: 3},
			limits{timeout: time.Second, memory: 2 << 20, output: 2000, inbox: 3000, maxPending: 3, snapshot: 3000, snapshotTTL: 15 * time.Minute, maxSuspended: 64, lease: 5 * time.Second, search: 8, maxSearched: 50}},
	} {
		if got := test.options.limits(); got != test.want {
			t.Errorf("%+v gives %+v, want %+v", test.options, got, test.want)
		}
	}
}

func TestCacheDir(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	usual := "" // none, where the system has no place for it
	if user, err := os.UserCacheDir(); err == nil {
		usual = filepath.Join(user, "cellmode")
	}
	for option, want := range map[string]string{"off": "", "some/dir": "some/dir", "": usual} {
		if got := cacheDir(option); got != want {
			t.Errorf("%q gives %q, want %q", option, got, want)
		}
	}
}
