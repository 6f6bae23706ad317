package llm

import "context"

type progressKey struct{}

// WithProgress returns a context for a call of a model, in which progress is called with each part of the answer that
// comes. It must not block.
func WithProgress(ctx context.Context, progress func()) context.Context {
	return context.WithValue(ctx, progressKey{}, progress)
}

// ReportProgress says that a part of the answer has come, to who wants to know.
func ReportProgress(ctx context.Context) {
	if progress, ok := ctx.Value(progressKey{}).(func()); ok {
		progress()
	}
}
