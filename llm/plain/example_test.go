package plain_test

import (
	"fmt"

	"clank/llm/plain"
)

func ExampleCheckInstruction() {
	fmt.Println(plain.CheckInstruction(`open https://example.com, click "More", read`))
	_, err := plain.CheckInstruction("think about lamps")
	fmt.Println(err)
	// Output:
	// 3 <nil>
	// I did not understand "think about lamps", so I did nothing.
}
