package harden

// The one binary that this package knows, and where it comes from.
const (
	SHA256  = "88fcbeead33cca3ec8394feb0fb3eec8047ec9ac5062aba7a63799cee11989b7"
	Module  = "github.com/fastschema/qjs"
	Version = "v0.0.6"
)

// Period is what the countdown starts from: how many loop iterations, or times 64 copied bytes, a
// guest gets between two calls of the host with [ArgcTick].
const Period = 8192

// What the third parameter (argc) of the import env.jsFunctionProxy tells the host. A hardened
// engine that makes no function proxies of its own calls it with no other value.
const (
	ArgcTick       = 0  // the countdown ran out: look at the clock, then return, or panic to end the guest
	ArgcRejected   = -1 // the promise in the second parameter was rejected and nothing handles it
	ArgcNowHandled = -2 // a promise reported by ArgcRejected got a handler
)

// What the rewriting exports, beside the binary's own exports.
const (
	// ExportSP is the C stack pointer: a mutable global of type i32.
	ExportSP = "sp"

	// ExportSPMin is the lower bound of the C stack pointer: a mutable global of type i32. Taking
	// the stack pointer below it traps, at the latest on the next page of StackPage bytes. 0, as it
	// starts, bounds nothing but what would wrap around.
	ExportSPMin = "spmin"

	// ExportSPReach is how deep the C stack has been since the host last set it: a mutable global
	// of type i32, the start of the lowest page of StackPage bytes that the stack pointer has been
	// in. Nothing was written below it but by functions that make no calls, which use up to 128
	// bytes below the stack pointer. The bound is only looked at where the stack gets deeper than
	// this: a host that raises the bound sets this to the stack pointer, or to the largest i32, as
	// it starts.
	ExportSPReach = "spreach"

	// ExportCount is the countdown: a mutable global of type i32. The host may set it while the
	// guest does not run and inside a host call; 1 or less makes the next loop head call the host.
	ExportCount = "count"

	// ExportLoop is js_std_loop: a function of the JSContext, a pointer, without a result. It runs
	// jobs until none is left.
	ExportLoop = "loop"
)

// StackPage is the grain of [ExportSPReach], in bytes.
const StackPage = 4096

// TrackerSlot is the promise rejection tracker's index in the function table: what the host stores
// at [RuntimeRejectionTracker] to get [ArgcRejected] and [ArgcNowHandled].
const TrackerSlot = 542

// Where the engine keeps what the host reads and writes, in bytes from the start of each structure.
// Pointers and int are 4 bytes, a JSValue is 8, all little-endian.
const (
	QJSRuntime = 0 // QJSRuntime, the result of New_QJS: its JSRuntime, a pointer
	QJSContext = 4 // and its JSContext, a pointer

	RuntimeStackLimit       = 128 // JSRuntime.stack_limit: a stack pointer below it is a RangeError; 0: no check
	RuntimeRejectionTracker = 172 // JSRuntime.host_promise_rejection_tracker: a table index; 0: none

	ContextRuntime     = 16  // JSContext.rt: a pointer
	ContextRandomState = 264 // JSContext.random_state: 8 bytes, not all zero

	ObjectClassID = 6  // JSObject.class_id: 2 bytes
	ObjectData    = 32 // JSObject.u: for a promise, a pointer to its JSPromiseData

	PromiseState   = 0  // JSPromiseData.promise_state: an int, PromisePending and so on
	PromiseHandled = 20 // JSPromiseData.is_handled: 1 byte
	PromiseResult  = 24 // JSPromiseData.promise_result: a JSValue
)

// Values of these fields.
const (
	ClassPromise = 50 // ObjectClassID of a promise

	PromisePending   = 0
	PromiseFulfilled = 1
	PromiseRejected  = 2
)

// Functions of the binary by index, named as in the source of QuickJS.
const (
	hostCallFn     = 0    // the import env.jsFunctionProxy(ctx, this, argc, argv)
	newContextFn   = 89   // New_QJSContext(rt), exported
	throwRangeFn   = 258  // JS_ThrowRangeError(ctx, format, args)
	interpretFn    = 266  // JS_CallInternal: the bytecode interpreter
	jsNewContextFn = 285  // JS_NewContext(rt)
	usableSizeFn   = 611  // js_malloc_usable_size(p)
	proxyKeysFn    = 697  // js_proxy_get_own_property_names
	helperNextFn   = 890  // js_iterator_helper_next(ctx, this, argc, argv, done, magic)
	arrayWithFn    = 893  // js_array_with
	toReversedFn   = 906  // js_array_toReversed
	toSortedFn     = 909  // js_array_toSorted
	toSplicedFn    = 911  // js_array_toSpliced
	bufTransferFn  = 1030 // js_array_buffer_transfer
	stdLoopFn      = 1100 // js_std_loop(ctx)
)

const (
	stackPointer      = 0       // the global that is the C stack pointer
	dispatchLoop      = 9       // which loop of JS_CallInternal, from 1, dispatches the bytecode
	stackOverflowText = 15843   // address of "Maximum call stack size exceeded"
	jsException       = 6 << 32 // JS_EXCEPTION
)
