// Package picture shows pages to people and models: screenshots of a viewport, a page or an element, brought to a size that
// can be sent and with the refs of a snapshot drawn in, PrintPDF files, a highlight, and a live view of a tab.
//
// A picture leaves the page as it was. Labels are drawn into the image, not into the page: no script of the page can see,
// cover or move them, and nothing has to be taken away again after an error. The package does not store pictures, and
// does not decide who may see them.
package screenshot
