package toolcatalog

import "strings"

// reserved holds the identifiers that no tool may be called by. A tool with such a name keeps it as its tool name and gets
// a callable name with a suffix.
var reserved = reservedNames(reservedWords, guestGlobals, engineGlobals, standardGlobals)

func reservedNames(lists ...string) map[string]bool {
	set := map[string]bool{}
	for _, list := range lists {
		for _, name := range strings.Fields(list) {
			set[name] = true
		}
	}
	return set
}

// reservedWords cannot name a global that a cell can call: the reserved words of ECMAScript, sloppy and strict; arguments,
// which every function hides; require, which is refused as module access.
const reservedWords = `
	await break case catch class const continue debugger default delete do else enum export extends false finally for function if
	implements import in instanceof interface let new null package private protected public return static super switch this throw true
	try typeof var void while with yield
	arguments require`

// guestGlobals are what a cell finds beside the language: the guest API, and the parts of the web platform that it brings.
const guestGlobals = `
	ALL_TOOLS API MCP agents catalog clearTimeout console json load log namespaces nodes phase results setTimeout skills store text
	tools yield_control
	TextDecoder TextEncoder URL URLSearchParams atob btoa structuredClone`

// engineGlobals are the global names of the engine itself, as Object.getOwnPropertyNames(globalThis) lists them.
const engineGlobals = `
	AggregateError Array ArrayBuffer BigInt BigInt64Array BigUint64Array Boolean DOMException DataView Date Error EvalError
	FinalizationRegistry Float16Array Float32Array Float64Array Function Infinity Int16Array Int32Array Int8Array InternalError Iterator
	JSON Map Math NaN Number Object Promise Proxy RangeError ReferenceError Reflect RegExp Set SharedArrayBuffer String Symbol
	SyntaxError TypeError URIError Uint16Array Uint32Array Uint8Array Uint8ClampedArray WeakMap WeakRef WeakSet decodeURI
	decodeURIComponent encodeURI encodeURIComponent escape eval globalThis isFinite isNaN parseFloat parseInt performance
	queueMicrotask undefined unescape`

// standardGlobals are built-ins of the language that the engine does not have. A model that uses one must not reach a tool.
const standardGlobals = `
	AsyncDisposableStack Atomics DisposableStack Intl SuppressedError Temporal WebAssembly`
