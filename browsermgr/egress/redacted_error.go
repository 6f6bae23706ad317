package egress

// redact takes secrets out of a text.
func (g *Proxy) redact(text string) string {
	if g.Redact == nil {
		return text
	}
	return g.Redact(text)
}

// redactedError is an error whose text had secrets in it.
type redactedError struct {
	error

	text string
}

func (c redactedError) Error() string { return c.text }
func (c redactedError) Unwrap() error { return c.error }

// redactError takes secrets out of the text of an error.
func (g *Proxy) redactError(err error) error {
	if err == nil {
		return nil
	}
	text := g.redact(err.Error())
	if text == err.Error() {
		return err
	}
	return redactedError{err, text}
}
