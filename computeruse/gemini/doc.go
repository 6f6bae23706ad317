// Package gemini implements computer use with Gemini models over generateContent. It converts actions on the vendor's
// grid to actions on the picture and results to function responses, and removes old pictures.
//
// Requests are made by llm/gemini.
package gemini
