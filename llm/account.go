package llm

import "context"

// Account says for whom and for what a model is asked, so that whoever stands between the caller and the vendor (a
// budget, a recorder) can put each call down to it. Ids are those of the other packages; empty = none.
type Account struct {
	Task    string
	Session string
	Guild   string
	Channel string
	User    string // id of the person, with the door in front ("discord:42"), as ids of two doors may be alike
	Purpose string // what the call is for: "browse", "talk", "describe", "speech", …
}

type accountKey struct{}

// WithAccount returns a context whose model calls belong to a.
func WithAccount(ctx context.Context, a Account) context.Context {
	return context.WithValue(ctx, accountKey{}, a)
}

// AccountOf returns the account that ctx's model calls belong to, or the zero Account if none was set.
func AccountOf(ctx context.Context) Account {
	a, _ := ctx.Value(accountKey{}).(Account)
	return a
}
