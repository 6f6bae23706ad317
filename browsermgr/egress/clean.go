package egress

// clean takes secrets out of a text.
func (g *Gate) clean(text string) string {
	if g.Clean == nil {
		return text
	}
	return g.Clean(text)
}

// cleanError is an error whose text had secrets in it.
type cleanError struct {
	error

	text string
}

func (c cleanError) Error() string { return c.text }
func (c cleanError) Unwrap() error { return c.error }

// cleaned takes secrets out of the text of an error.
func (g *Gate) cleaned(err error) error {
	if err == nil {
		return nil
	}
	text := g.clean(err.Error())
	if text == err.Error() {
		return err
	}
	return cleanError{err, text}
}
