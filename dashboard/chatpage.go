package dashboard

import "net/http"

// examples are what somebody can try first, without an account anywhere.
var examples = []struct{ Label, Prompt string }{
	{"Find the lamps", `open the demo shop, type "lamp" into Search, press Enter, read`},
	{"Put one in the basket", `open the demo shop, click "Accept", click "Aurora Desk Lamp", click "Add to basket", screenshot`},
	{"Sort by price", `open the demo shop, click "Chairs", select "Price, lowest first" in Sort by, click "Show", read`},
}

func (s *Server) chatPage(w http.ResponseWriter, _ *http.Request) {
	s.asked.arrive()
	s.page(w, "chat", http.StatusOK, shell{Title: "clank", Data: examples})
}
