//go:build race

package codemode_test

func init() { raceDetector = true }
