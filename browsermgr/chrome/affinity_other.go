//go:build !linux

package chrome

func onOneProcessor() (restore func()) { return func() {} }

// UseAllProcessors does nothing here: LaunchOptions.OneProcessor has no effect.
func (*Process) UseAllProcessors() {}
