// Package tscheck lets tests ask the real TypeScript compiler about many small programs at once.
//
//	for _, d := range tscheck.Check(t, tscheck.Group{
//		"tools/add.d.ts": declaration,
//		"use.ts":         "const sum: number = await add({ a: 1, b: 2 }); export {};",
//	}) {
//		t.Error(d) // use.ts:1: TS2322: Type 'string' is not assignable to type 'number'.
//	}
//
// # Groups
//
// The files of a [Group] are one program: what one of them declares, the others see, unless it is a module (a file with an
// import or an export at its top level). Groups do not see each other. A group costs 3 to 5 ms, because all of them are
// checked by one process that parses the declarations of the language once: thousands of groups are a matter of seconds. A
// hundred files with names that do not clash cost little more than one as one group, so take a group for each only where one
// may harm another.
//
// # Options of the compiler
//
// strict, noEmit, target and lib ES2023 (no DOM), module ESNext, no @types. Declaration files are checked like all others: the
// compiler would pass over them with skipLibCheck, errors and all, so the option is off and only the files of the language
// itself are left out.
//
// # Where the compiler is
//
// The repository has no TypeScript in it. The environment variable CELLMODE_TYPESCRIPT names the folder of an installed npm
// package typescript (.../node_modules/typescript). Without it a test that needs the compiler is skipped, but where
// CELLMODE_SHARED is set, as in .ci/run, it fails: a skipped check there would look like a passed one. The compiler runs in
// node, which has to be in the PATH.
package tscheck
