package llm

import "context"

type retryKey struct{}

// WithRetry returns a context whose model calls ask again before they are tried
// once more by themselves. Told is why the try before failed; an error of again
// ends the call, and is its error. Again is called on the goroutine of the call.
func WithRetry(ctx context.Context, again func(told error) error) context.Context {
	return context.WithValue(ctx, retryKey{}, again)
}

// Retry asks whoever wants to know ([WithRetry]) whether a call that failed with
// told may be tried once more. Models call it before each repeated try.
func Retry(ctx context.Context, told error) error {
	again, _ := ctx.Value(retryKey{}).(func(error) error)
	if again == nil {
		return nil
	}
	return again(told)
}
