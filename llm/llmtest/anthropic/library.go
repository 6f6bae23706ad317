//go:build !peers

package anthropic

// The vendor's client library has its say in tests with the tag peers alone: it
// takes a minute to compile.

func libraryTakes([]byte, bool) error { return nil }

func libraryReads(string, []byte) error { return nil }
