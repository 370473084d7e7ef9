// Package source says everything that can be said about the text of a cell before it runs: it reads the exec input,
// tells shell commands and module access from JavaScript, lists the names that a program mentions, and words the
// errors that the model reads about them.
//
//	cell, err := source.Read(args) // or source.Input{...}.Cell()
//	if err != nil {
//		return invalidInput(err) // an *InputError: the model reads its text
//	}
//	if shell, err := source.Shell(ctx, cell.Code, vm.ParsesBody); err != nil {
//		return err
//	} else if shell {
//		return invalidInput(source.ErrShell)
//	}
//	if failure := vm.Compile(cell.Code); failure != nil {
//		return invalidInput(source.SyntaxError(failure.Line, failure.Column, failure.Message))
//	}
//	if source.ModuleAccess(cell.Code) {
//		return invalidInput(source.ErrModuleAccess)
//	}
//	for name := range source.Identifiers(cell.Code) {
//		install(name)
//	}
//	for name := range source.CodeIdentifiers(cell.Code) {
//		installEverydayWord(name)
//	}
//
// # Order
//
// The order above is the one to keep: a shell command is reported as such even though it is a syntax error as well, and a
// program that does not parse is reported with its position before anything is said about modules. Nothing here runs
// guest code or dispatches a tool.
//
// # Errors
//
// Whatever is wrong with the input is an [*InputError]. Its text is for the model: bounded, and it ends with the way out.
// The only other error is one that a [ParseFunc] returned, which [Shell] hands on.
//
// # The engine
//
// The package knows no engine. Where a rule needs to know whether a text is guest JavaScript, [Shell] asks the caller's
// [ParseFunc], and it asks only when the text itself leaves the question open: never for a program that starts like
// JavaScript.
//
// # Cost
//
// Every function takes time linear in its input. For a cell such as `return 1` [Shell], [ModuleAccess] and [Identifiers]
// together cost well under a microsecond, and they do not allocate for ordinary programs. ModuleAccess builds a syntax tree
// when a program seems to call import or require; sources for which that would be expensive are left to the engine.
//
// # Deviations from the reference
//
// The rules are those of the reference system, with these choices where it is silent or unhelpful:
//
//   - A recognised field that occurs twice is an error, other fields are ignored. A lone surrogate in a JSON string becomes
//     U+FFFD, as in encoding/json.
//   - A title counts Unicode code points and includes surrounding white space; only the test for blankness trims it.
//   - Shell: a first word that is no known command is not taken for one if its line reads as JavaScript (an assignment, a
//     call, an arrow, an opening brace at its end), because a mistyped keyword deserves a syntax error with a position. A path
//     such as ./build.sh is a command even when it stands alone. A dot file after a known command (cat .env) is a path.
//
// # Concurrency
//
// All functions are pure and safe for concurrent use.
package source
