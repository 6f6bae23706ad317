package page

import "github.com/go-rod/rod/lib/proto"

// LoadCounts grow with what happens in a tab. Kept from before an action, they tell afterwards what it led to.
type LoadCounts struct {
	Documents    int // documents that the main frame has shown
	SameDocument int // changes of address within a document
	Navigations  int // navigations of the main frame that were asked for
	NewTabs      int // new tabs that were asked for
	Downloads    int // downloads that links asked for
	Requests     int // requests of all frames
}

// LoadState is how far a tab has loaded. Whoever owns it sees to it that it is used by one goroutine at a time. It is made with [NewFrameTree].
type LoadState struct {
	LoadCounts

	Pending bool   // a navigation was asked for and has come to no end
	Started bool   // … and Chromium has taken it up
	Loader  string // id of the present document's loader
	Status  int    // the present document's HTTP status; 0 if there is none
	Parsed  bool   // DOMContentLoaded
	Loaded  bool
	Idle    bool // no request for half a second after loading

	TitleReported bool // the present document tells its title when it has loaded
	TitleRequests int  // counts questions for the title that are on their way
	TitleKnown    bool // the present document's title is known

	statuses map[string]int // HTTP status by loader, of documents that are not shown yet
	inFlight map[string]openRequest
}

// openRequest is a request without an answer.
type openRequest struct {
	number      int
	loader      string
	changesPage bool // of a kind that changes what the page shows
}

// NewLoadState returns the state of a tab of which nothing is known.
func NewLoadState() LoadState {
	return LoadState{statuses: map[string]int{}, inFlight: map[string]openRequest{}}
}

// Crashed notes that the tab's process died.
func (s *LoadState) Crashed() {
	s.Pending, s.Started = false, false
	clear(s.inFlight)
}

// Committed notes that the main frame shows a new document. One that is restored was kept as it was, loaded.
func (s *LoadState) Committed(loader string, restored bool) {
	s.Documents++
	s.Pending, s.Started = false, false
	s.Loader, s.Status = loader, s.statuses[loader]
	s.Parsed, s.Loaded, s.Idle = restored, restored, restored
	s.TitleKnown, s.TitleReported = false, false
	clear(s.statuses)
	for id, f := range s.inFlight {
		if f.loader != loader {
			delete(s.inFlight, id)
		}
	}
}

// HasOpenSince says whether requests that began after the numbered one are still open, of the kinds that change what the page shows.
func (s *LoadState) HasOpenSince(number int) bool {
	for _, f := range s.inFlight {
		if f.number > number && f.changesPage {
			return true
		}
	}
	return false
}

// Reached says whether the main document has come to a load state: domcontentloaded, load, or else networkidle.
func (s *LoadState) Reached(state string) bool {
	switch {
	case s.Pending:
		return false
	case state == "domcontentloaded":
		return s.Parsed
	case state == "load":
		return s.Loaded
	}
	return s.Idle && !s.HasOpenSince(0)
}

// awaitedTypes are the kinds of requests whose answers change what a page shows.
var awaitedTypes = map[proto.NetworkResourceType]bool{
	proto.NetworkResourceTypeDocument: true, proto.NetworkResourceTypeXHR: true,
	proto.NetworkResourceTypeFetch: true, proto.NetworkResourceTypeScript: true,
}
