package cancel_test

import (
	"context"
	"fmt"

	"clank/cancel"
)

func ExampleScopes() {
	var scopes cancel.Scopes
	room := cancel.Scope{Guild: "guild", Channel: "general"}
	ctx, work := scopes.Begin(context.Background(), room, cancel.Work{ID: "t1", Owner: "ada", Label: "find a lamp"})
	defer work.End()

	_, refused := scopes.Stop(room, cancel.Actor{ID: "bob", Name: "@bob"}, false)
	fmt.Println("bob is refused:", len(refused) == 1)
	scopes.Stop(room, cancel.Actor{ID: "ada", Name: "@ada"}, false)
	fmt.Println(context.Cause(ctx))
	// Output:
	// bob is refused: true
	// stopped by @ada
}

func ExampleIsStop() {
	fmt.Println(cancel.IsStop("Stop!"), cancel.IsStop("stopp"), cancel.IsStop("find a bus stop"))
	// Output: true true false
}
