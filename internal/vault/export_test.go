package vault

// StepsFail has before be called ahead of each step that changes the disk, until undo is called.
func StepsFail(before func(step, path string) error) (undo func()) {
	was := beforeStep
	beforeStep = before
	return func() { beforeStep = was }
}
