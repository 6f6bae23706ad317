package vault

import "time"

// StepsFail has before be called ahead of each step that changes the disk, until undo is called.
func StepsFail(before func(step, path string) error) (undo func()) {
	was := beforeStep
	beforeStep = before
	return func() { beforeStep = was }
}

// CodeOf returns the one-time code that a text makes.
func CodeOf(text string, at time.Time) (string, error) {
	t, err := parseTOTP(text)
	if err != nil {
		return "", err
	}
	return t.code(at), nil
}
