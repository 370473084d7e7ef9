// Package harden rewrites the WebAssembly binary of QuickJS that github.com/fastschema/qjs ships, so
// that untrusted code can run on it inside the host's own process.
//
//	hardened, err := harden.Rewrite(binary) // a *harden.HashError if it is not the pinned binary
//	module, err := runtime.CompileModule(ctx, hardened)
//	// In each instance, before any JavaScript runs:
//	stack := malloc(384 << 10)
//	sp.Set(stack + 384<<10)                       // ExportSP
//	spMin.Set(stack + 16<<10)                     // ExportSPMin
//	q := New_QJS(0, 0, 0, 0)
//	rt := load32(q + harden.QJSRuntime)
//	JS_FreeContext(load32(q + harden.QJSContext)) // it has more in it than the language
//	ctx := New_QJSContext(rt)                     // this one has not
//	store32(rt + harden.RuntimeStackLimit, stack + 96<<10)
//	store32(rt + harden.RuntimeRejectionTracker, harden.TrackerSlot)
//
// # Why rewrite
//
// As it ships, the binary cannot be stopped: a goroutine inside compiled WebAssembly is not
// preempted, so that one endless loop stops the garbage collector and with it the process. It checks
// no stack, counts every allocation as eight bytes, and gives scripts files and sleep. All of that
// is a matter of some hundred instructions, and WebAssembly is easy to rewrite: the code is
// structured, every backward jump goes to a loop instruction, and what refers to what is an index.
//
// Rewrite works section by section and never moves an index: types, functions, globals and a table
// slot are appended, instructions are put between instructions. So the output is the input with
// insertions (a test takes them out again and compares the rest byte by byte), and what is pinned is
// the input: by its SHA-256, because the patches of single functions know addresses and local
// variables. Debug information is left out, which makes wazero's machine code a sixth smaller.
//
// # The countdown
//
// A global counts down at the head of each of the 1,726 loops. When it is used up, the engine calls
// its only import that is not WASI's, env.jsFunctionProxy, with [ArgcTick]. There the host looks at
// the clock, and returns, or panics to end the guest. Being a call into Go, it is also what lets the
// garbage collector stop the goroutine.
//
// The promise: whatever the guest does, the host is asked about every millisecond, mostly ten times
// as often. It rests on three things. A program that runs for long runs loops: code without loops is
// no longer than a function, and the few of the 631 functions without loops that can call themselves
// without passing one do so along a chain, as far as the stack goes. Instructions that run for long
// do not exist but for memory.copy and memory.fill, which are replaced: pieces of 64 KiB, for which
// 64 bytes cost as much as an iteration. And the countdown is a global: no store of a guest reaches
// it, whatever it does to the memory, and no value that it can have turns it off.
//
// # The C stack
//
// The engine checks its stack only if JSRuntime.stack_limit is set, and not everywhere even then. So
// each write of global 0, the C stack pointer, is followed by a comparison with the deepest that
// the stack has been ([ExportSPReach]); where it gets deeper, an added function traps if the
// pointer left the stack ([ExportSPMin]). Writes that add a constant are left alone: they take a
// function's frame off again. For the same price the host gets to know how much of the stack there
// is to clear.
//
// # Patched functions
//
//   - New_QJSContext makes a plain context, without the modules std, os and bjson.
//   - js_malloc_usable_size, which answered 0, gives the size of the allocator's chunk. With it the
//     engine's accounting is true, and cyclic garbage is collected when it should be.
//   - A promise rejection tracker stands in table slot [TrackerSlot] and passes its events on to the
//     host, with [ArgcRejected] and [ArgcNowHandled].
//   - js_std_loop, which runs the job queue, is exported.
//   - Sizes that wrapped around 32 bits and let a script write past a small allocation are bounded:
//     the keys that a proxy lists (out of memory from 2^29 on), arrays in with, toReversed,
//     toSorted and toSpliced (a RangeError from 2^28 on), the new length in ArrayBuffer's transfer
//     and transferToFixedLength (a RangeError from 2^31 on).
//   - The next function of lazy iterator helpers checks the stack limit: towers of them recursed
//     natively without it.
//   - An empty function is called before the loop that dispatches the bytecode. wazero's register
//     allocator makes each of the loop's hundreds of back edges restore the registers that were in
//     use where it was entered; after a call none are. This pays for the metering of scripts.
//
// # What is left to the host
//
// SharedArrayBuffer must be deleted before guest code runs: a growable one is a view over memory
// that it does not own. Linear memory needs a cap (wazero's memory allocator). WASI functions should
// give the time and EBADF. Everything in linear memory counts as written by the guest: addresses and
// lengths found there are to be checked. A trap or a panic ends an instance for good.
//
// Two things remain that no rewriting of this kind reaches. Deep recursion makes wazero grow its own
// stack, in Go, between two ticks: mostly 2 to 5 ms, 10 at worst, for a C stack of 384 KiB. And what
// a host function does is the host's to bound.
//
// # Numbers
//
// Rewriting takes 6 to 8 ms. 1,038,767 bytes become 1,074,123; wazero compiles them as fast as
// before, to 5.2 MB of machine code instead of 6.2.
//
// Time of the hardened binary over that of the shipped one in the same process (wazero 1.11, and
// alike on 1.12; amd64; go test -bench Metering), with two other forms for comparison:
//
//	                               fib  loop  sort   map  json  text  search
//	as it is                      0.96  0.89  1.05  1.06  1.06  1.05    1.54
//	without the register fence    1.10  1.08  1.05  1.03  1.04  1.02    1.14
//	tick in the then branch and
//	  every stack write checked   1.05  1.08  1.08  1.03  1.09  1.14    1.69
//
// The last column is a loop of some instructions. Its time depends as much on where the code happens
// to lie: it is 1.0 to 1.4 with no metering at all.
//
// The period hardly matters for the speed: 1,024 costs 1% more than 16,384. It does for the longest
// time between two ticks. Of some 60 programs made for it (fills, copies, allocations and sorts of
// large arrays, regular expressions, large numbers, large source), in CPU time, without deep
// recursion:
//
//	period  4,096   0.5 ms
//	period  8,192   0.8 ms, the one taken
//	period 16,384   1.2 ms; 28 ms if copies and fills are left whole
//	period 65,536   4 ms
package harden
