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
	if text := g.redact(err.Error()); text != err.Error() {
		return redactedError{err, text}
	}
	return err
}
