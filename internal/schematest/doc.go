// Package schematest holds JSON Schemas for tests: those of the official test suite, those of real MCP servers, and random
// ones.
//
//	for file, groups := range schematest.Suite(t, "draft2020-12") {
//		for _, g := range groups {
//			s, err := schema.Parse(g.Text())
//			...
//
// # Data
//
// [Suite] and [MCPTools] read third-party data that is not in the repository: the folder data of the directory that the
// environment variable CELLMODE_SHARED names, or else of one called shared beside the repository. Without it the test is
// skipped, but where the variable is set it fails. They are for the packages directly below the root of the repository.
//
// # Random
//
// [Random] makes schemas and values over few names and literals, so that they often nearly match. [Instance] makes values
// that follow a schema, and mostly match it. Both give the same for the same seed.
package schematest
