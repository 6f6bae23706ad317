// Package har is the vocabulary of HTTP Archive 1.2: what a recorded exchange looks like as JSON. It is not for
// recording: that is done by its sibling record.
//
// The shapes follow the HAR 1.2 specification (Jan Odvarko, 2012). Sizes are bytes and times milliseconds; -1 means that
// it is not known. Names with an underscore in front are custom, as the specification allows.
package har

// Archive is a whole file.
type Archive struct {
	Log Log `json:"log"`
}

// Log is the exchanges of one tab, oldest first.
type Log struct {
	Version string  `json:"version"` // always [Version]
	Creator Tool    `json:"creator"`
	Browser *Tool   `json:"browser,omitempty"`
	Pages   []Page  `json:"pages"`
	Entries []Entry `json:"entries"`
}

// Version is that of the format.
const Version = "1.2"

// Tool names a program.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Page is what entries refer to by its id.
type Page struct {
	StartedDateTime string      `json:"startedDateTime"`
	ID              string      `json:"id"`
	Title           string      `json:"title"`
	PageTimings     PageTimings `json:"pageTimings"`
}

// PageTimings is empty: loading is not measured.
type PageTimings struct{}

// Entry is one exchange. One that has no answer has the response status 0 and says why in Response.Error.
type Entry struct {
	PageRef         string   `json:"pageref,omitempty"`
	StartedDateTime string   `json:"startedDateTime"` // ISO 8601
	Time            float64  `json:"time"`
	Request         Request  `json:"request"`
	Response        Response `json:"response"`
	Cache           struct{} `json:"cache"`
	Timings         Timings  `json:"timings"`
	ServerIPAddress string   `json:"serverIPAddress,omitempty"`
	ResourceType    string   `json:"_resourceType,omitempty"`
}

// Request is what was asked.
type Request struct {
	Method      string    `json:"method"`
	URL         string    `json:"url"`
	HTTPVersion string    `json:"httpVersion"`
	Cookies     []Pair    `json:"cookies"`
	Headers     []Pair    `json:"headers"`
	QueryString []Pair    `json:"queryString"`
	PostData    *PostData `json:"postData,omitempty"`
	HeadersSize int       `json:"headersSize"`
	BodySize    int       `json:"bodySize"`
}

// PostData is the body of a request.
type PostData struct {
	MimeType string `json:"mimeType"`
	Params   []Pair `json:"params"`
	Text     string `json:"text"`
}

// Response is what was answered.
type Response struct {
	Status       int     `json:"status"`
	StatusText   string  `json:"statusText"`
	HTTPVersion  string  `json:"httpVersion"`
	Cookies      []Pair  `json:"cookies"`
	Headers      []Pair  `json:"headers"`
	Content      Content `json:"content"`
	RedirectURL  string  `json:"redirectURL"`
	HeadersSize  int     `json:"headersSize"`
	BodySize     int     `json:"bodySize"`
	TransferSize int     `json:"_transferSize"`
	Error        string  `json:"_error,omitempty"`
}

// Content describes the body of a response.
type Content struct {
	Size     int    `json:"size"`
	MimeType string `json:"mimeType"`
	File     string `json:"_file,omitempty"` // where a trace keeps the body
}

// Timings is how long the parts of an exchange took. Wait and Receive are always given.
type Timings struct {
	Blocked float64 `json:"blocked"`
	DNS     float64 `json:"dns"`
	Connect float64 `json:"connect"`
	SSL     float64 `json:"ssl"`
	Send    float64 `json:"send"`
	Wait    float64 `json:"wait"`
	Receive float64 `json:"receive"`
}

// Pair is a header, a cookie or a query parameter.
type Pair struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}
