package llm

import "context"

type retryApprovalKey struct{}

// WithRetryApproval returns a context whose model calls ask again before they are tried
// once more by themselves. Told is why the try before failed; an error of again
// ends the call, and is its error. Again is called on the goroutine of the call.
func WithRetryApproval(ctx context.Context, again func(told error) error) context.Context {
	return context.WithValue(ctx, retryApprovalKey{}, again)
}

// ApproveRetry asks whoever wants to know ([WithRetryApproval]) whether a call that failed with
// told may be tried once more. Models call it before each repeated try.
func ApproveRetry(ctx context.Context, told error) error {
	again, _ := ctx.Value(retryApprovalKey{}).(func(error) error)
	if again == nil {
		return nil
	}
	return again(told)
}
