//go:build !peers

package gemini

// The vendor's library has its say in tests with the tag peers alone: it brings
// 190 packages.

func libraryTakes([]byte) error { return nil }

func libraryReads([]byte) error { return nil }
