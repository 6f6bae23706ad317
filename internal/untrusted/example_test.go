package untrusted_test

import (
	"fmt"

	"clank/internal/untrusted"
)

func ExampleCleanLine() {
	fmt.Println(untrusted.CleanLine("Price:\x1b[31m 20 EUR\u202e\nBuy now", 39))
	// Output:
	// Price:\u{001B}[31m 20 EUR\u{202E} Buy n…
}
