package record

// HARArchive is a whole file.
type HARArchive struct {
	Log HARLog `json:"log"`
}

// HARLog is the exchanges of one tab, oldest first.
type HARLog struct {
	Version string     `json:"version"` // always [Version]
	Creator HARTool    `json:"creator"`
	Browser *HARTool   `json:"browser,omitempty"`
	Pages   []HARPage  `json:"pages"`
	Entries []HAREntry `json:"entries"`
}

// HARVersion is that of the format.
const HARVersion = "1.2"

// HARTool names a program.
type HARTool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// HARPage is what entries refer to by its id.
type HARPage struct {
	StartedDateTime string         `json:"startedDateTime"`
	ID              string         `json:"id"`
	Title           string         `json:"title"`
	PageTimings     HARPageTimings `json:"pageTimings"`
}

// HARPageTimings is empty: loading is not measured.
type HARPageTimings struct{}

// HAREntry is one exchange. One that has no answer has the response status 0 and says why in Response.Error.
type HAREntry struct {
	PageRef         string      `json:"pageref,omitempty"`
	StartedDateTime string      `json:"startedDateTime"` // ISO 8601
	Time            float64     `json:"time"`
	Request         HARRequest  `json:"request"`
	Response        HARResponse `json:"response"`
	Cache           struct{}    `json:"cache"`
	Timings         HARTimings  `json:"timings"`
	ServerIPAddress string      `json:"serverIPAddress,omitempty"`
	ResourceType    string      `json:"_resourceType,omitempty"`
}

// HARRequest is what was asked.
type HARRequest struct {
	Method      string       `json:"method"`
	URL         string       `json:"url"`
	HTTPVersion string       `json:"httpVersion"`
	Cookies     []HARPair    `json:"cookies"`
	Headers     []HARPair    `json:"headers"`
	QueryString []HARPair    `json:"queryString"`
	PostData    *HARPostData `json:"postData,omitempty"`
	HeadersSize int          `json:"headersSize"`
	BodySize    int          `json:"bodySize"`
}

// HARPostData is the body of a request.
type HARPostData struct {
	MimeType string    `json:"mimeType"`
	Params   []HARPair `json:"params"`
	Text     string    `json:"text"`
}

// HARResponse is what was answered.
type HARResponse struct {
	Status       int        `json:"status"`
	StatusText   string     `json:"statusText"`
	HTTPVersion  string     `json:"httpVersion"`
	Cookies      []HARPair  `json:"cookies"`
	Headers      []HARPair  `json:"headers"`
	Content      HARContent `json:"content"`
	RedirectURL  string     `json:"redirectURL"`
	HeadersSize  int        `json:"headersSize"`
	BodySize     int        `json:"bodySize"`
	TransferSize int        `json:"_transferSize"`
	Error        string     `json:"_error,omitempty"`
}

// HARContent describes the body of a response.
type HARContent struct {
	Size     int    `json:"size"`
	MimeType string `json:"mimeType"`
	File     string `json:"_file,omitempty"` // where a trace keeps the body
}

// HARTimings is how long the parts of an exchange took. Wait and Receive are always given.
type HARTimings struct {
	Blocked float64 `json:"blocked"`
	DNS     float64 `json:"dns"`
	Connect float64 `json:"connect"`
	SSL     float64 `json:"ssl"`
	Send    float64 `json:"send"`
	Wait    float64 `json:"wait"`
	Receive float64 `json:"receive"`
}

// HARPair is a header, a cookie or a query parameter.
type HARPair struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}
