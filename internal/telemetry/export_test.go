package telemetry

// ParseHeaders reads the headers that traces are sent with.
var ParseHeaders = parseHeaders
