package dashboard

import "net/http"

// examplePrompts are what somebody can try first, without an account anywhere.
var examplePrompts = []struct{ Label, Prompt string }{
	{"Find the lamps", `open the demo shop, type "lamp" into Search, press Enter, read`},
	{"Put one in the basket", `open the demo shop, click "Accept", click "Aurora Desk Lamp", click "Add to basket", screenshot`},
	{"Sort by price", `open the demo shop, click "Chairs", select "Price, lowest first" in Sort by, click "Show", read`},
}

func (s *Server) chatPage(w http.ResponseWriter, _ *http.Request) error {
	s.presence.pageRequested()
	return s.page(w, "chat", http.StatusOK, pageData{Title: "clank", Data: examplePrompts})
}
