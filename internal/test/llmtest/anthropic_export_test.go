package llmtest

// CheckAnthropic returns how an answer, or an event of one, is judged before it is sent.
func CheckAnthropic(what, message string) error {
	return checkAnthropicAnswer(what, Request{}, []byte(message))
}
