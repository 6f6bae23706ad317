package settings

import "time"

const (
	groupWeb = "Web"
	webKeys  = "interaction.web."
)

// Web is reading, searching and watching without a browser.
type Web struct {
	SearchEngine     string        // see the Search constants
	SearXNG          string        // address of a server; "" = none
	SearchesPerHour  int           // 0 = none
	WatchesPerPerson int           // active watches of one person; 0 = none
	MinWatchInterval time.Duration // the shortest time between two looks
	WatchBrowser     bool          // pages that need scripts are watched with a browser
}

// Values of [Web.SearchEngine].
const (
	SearchAny     = "auto" // the first of those below that is set up
	SearchBrave   = "brave"
	SearchSerpAPI = "serpapi"
	SearchSearXNG = "searxng"
)

var webFields = []Field{
	{
		Key: webKeys + "search.engine", Group: groupWeb, Label: "Search engine",
		Effect: "What clank uses to search the web. Without a key or a server, it searches with the browser.",
		Kind:   KindChoice, Default: SearchAny, target: func(s *Settings) any { return &s.Web.SearchEngine },
		Options: []Option{
			{SearchAny, "First one set up"},
			{SearchBrave, "Brave Search (BRAVE_API_KEY)"},
			{SearchSerpAPI, "SerpApi (SERPAPI_API_KEY)"},
			{SearchSearXNG, "A SearXNG server"},
		},
	},
	{
		Key: webKeys + "search.searxngUrl", Group: groupWeb, Label: "SearXNG server",
		Effect: "Address of a SearXNG server with json among its search.formats. Needs no key.",
		Kind:   KindURL, Default: "", MaxLen: pathMaxLen, target: func(s *Settings) any { return &s.Web.SearXNG },
	},
	{
		Key: webKeys + "search.maxPerHour", Group: groupWeb, Label: "Searches per hour",
		Effect: "How many searches are allowed in an hour, for everyone together. 0 allows none.",
		Kind:   KindNumber, Default: 20, Min: 0, Max: 1000, target: func(s *Settings) any { return &s.Web.SearchesPerHour },
	},
	{
		Key: webKeys + "watches.maxPerUser", Group: groupWeb, Label: "Watches per person",
		Effect: "How many pages each person can watch at once. 0 allows none and pauses existing watches.",
		Kind:   KindNumber, Default: 5, Min: 0, Max: 100, target: func(s *Settings) any { return &s.Web.WatchesPerPerson },
	},
	{
		Key: webKeys + "watches.minIntervalMs", Group: groupWeb, Label: "Shortest watch interval",
		Effect: "The shortest time between two checks of a watched page.",
		Kind:   KindDuration, Default: 15 * time.Minute, Min: minuteMs, Max: 24 * 60 * minuteMs, target: func(s *Settings) any { return &s.Web.MinWatchInterval },
	},
	{
		Key: webKeys + "watches.browser", Group: groupWeb, Label: "Watch with the browser",
		Effect: "Use a browser for pages that are empty without JavaScript. When off, such pages cannot be watched.",
		Kind:   KindToggle, Default: true, target: func(s *Settings) any { return &s.Web.WatchBrowser },
	},
	{
		Key: "BRAVE_API_KEY", Group: groupWeb, Label: "Brave Search key",
		Effect: "For searching with Brave Search.", Kind: KindSecret,
	},
	{
		Key: "SERPAPI_API_KEY", Group: groupWeb, Label: "SerpApi key",
		Effect: "For searching with SerpApi.", Kind: KindSecret,
	},
}
