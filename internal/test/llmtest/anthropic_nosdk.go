//go:build !peers

package llmtest

// The vendor's client library has its say in tests with the tag peers alone: it
// takes a minute to compile.

func anthropicSDKAccepts([]byte, bool) error { return nil }

func anthropicSDKReads(string, []byte) error { return nil }
