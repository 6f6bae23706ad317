//go:build !peers

package llmtest

// The vendors' libraries are used only in tests with the tag peers, because they take a minute to compile.

func anthropicSDKAccepts([]byte, bool) error { return nil }

func anthropicSDKReads([]byte) error { return nil }

func geminiSDKAccepts([]byte) error { return nil }

func geminiSDKReads([]byte) error { return nil }
