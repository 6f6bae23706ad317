//go:build !peers

package llmtest

// The vendors' libraries have their say in tests with the tag peers alone: they take a minute to compile.

func anthropicSDKAccepts([]byte, bool) error { return nil }

func anthropicSDKReads([]byte) error { return nil }

func geminiSDKAccepts([]byte) error { return nil }

func geminiSDKReads([]byte) error { return nil }
