package settings

import "time"

const (
	groupWeb = "Web"
	webKeys  = "interaction.web."
)

// Web configures reading, searching and watching the web without a browser.
type Web struct {
	SearchEngine     string        // see the Search constants
	SearXNG          string        // address of a server; "" means none
	SearchesPerHour  TaskLimits    // 0 means none
	WatchesPerPerson int           // active watches of one person; 0 means none
	MinWatchInterval time.Duration // shortest time between two checks
	WatchBrowser     bool          // use a browser to watch pages that need scripts
}

// Values of [Web.SearchEngine].
const (
	SearchAny     = "auto" // the first configured engine of those below
	SearchBrave   = "brave"
	SearchSerpAPI = "serpapi"
	SearchSearXNG = "searxng"
)

var webFields = inGroup(groupWeb,
	choice(webKeys+"search.engine", "Search engine", "What clank uses to search the web. Without a key or a server, "+
		"it searches with the browser.", SearchAny, &at.Web.SearchEngine, Option{SearchAny, "First one set up"},
		Option{SearchBrave, "Brave Search (BRAVE_API_KEY)"}, Option{SearchSerpAPI, "SerpApi (SERPAPI_API_KEY)"},
		Option{SearchSearXNG, "A SearXNG server"}),
	address(webKeys+"search.searxngUrl", "SearXNG server", "Address of a SearXNG server with json among its "+
		"search.formats. Needs no key.", &at.Web.SearXNG),
	number(webKeys+"search.maxPerHour", "Searches per hour and person", "How many searches one person may have made "+
		"in an hour. 0 allows none.", 20, 0, 1000, &at.Web.SearchesPerHour.User),
	number(webKeys+"search.maxPerHourPerGuild", "Searches per hour and server", "How many searches the people of one "+
		"Discord server may have made in an hour. 0 allows none.", 60, 0, 10_000, &at.Web.SearchesPerHour.Guild),
	number(webKeys+"watches.maxPerUser", "Watches per person", "How many pages each person can watch at once. 0 "+
		"allows none and pauses existing watches.", 5, 0, 100, &at.Web.WatchesPerPerson),
	duration(webKeys+"watches.minIntervalMs", "Shortest watch interval", "The shortest time between two checks of a "+
		"watched page.", 15*time.Minute, time.Minute, 24*time.Hour, &at.Web.MinWatchInterval),
	toggle(webKeys+"watches.browser", "Watch with the browser", "Use a browser for pages that are empty without "+
		"JavaScript. When off, such pages cannot be watched.", true, &at.Web.WatchBrowser),
	secret("BRAVE_API_KEY", "Brave Search key", "For searching with Brave Search."),
	secret("SERPAPI_API_KEY", "SerpApi key", "For searching with SerpApi."),
)
