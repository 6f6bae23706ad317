package anthropic

import "clank/llm/llmtest"

// Check is how an answer, or an event of one, is judged before it is sent.
func Check(what, message string) error { return check(what, llmtest.Request{}, []byte(message)) }
