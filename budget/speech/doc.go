// Package speech holds calls in voice within the budget: what people say put into words, what we say, and the responses of models
// that hear and speak by themselves are reserved before, and counted after, once each.
//
// It decorates what package voice names, and knows prices of audio models, as data with a date. It neither hears nor speaks, and what
// this machine does by itself is free and none of its business.
package speech
