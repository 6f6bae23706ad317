package demoshop

import "html/template"

// drawings are the pictures of the categories: shapes in a square of 120 by 120.
var drawings = map[string]template.HTML{
	"Lamps":     `<path d="M38 62 52 26h22l14 36z" class="a"/><path d="M63 62v34" class="l"/><path d="M44 98h38" class="l"/>`,
	"Desks":     `<path d="M18 46h84v10H18z" class="a"/><path d="M27 56v42M93 56v42" class="l"/><path d="M62 56h31v16H62z" class="b"/>`,
	"Chairs":    `<path d="M40 20h10v44H40z" class="b"/><path d="M38 60h46v10H38z" class="a"/><path d="M43 70v30M79 70v30" class="l"/>`,
	"Shelves":   `<path d="M30 18v86M90 18v86" class="l"/><path d="M30 34h60v7H30zM30 60h60v7H30zM30 86h60v7H30z" class="a"/>`,
	"Textiles":  `<path d="M26 34h68v54c-12 8-22-6-34 1s-22 6-34-1z" class="a"/><path d="M26 50h68M26 66h68" class="l"/>`,
	"Tableware": `<path d="M34 44h46v30a20 20 0 0 1-20 20h-6a20 20 0 0 1-20-20z" class="a"/><path d="M80 52h6a10 10 0 0 1 0 22h-6" class="l"/>`,
	"Things":    `<circle cx="60" cy="60" r="36" class="a"/><path d="M60 38v22l14 10" class="l"/>`,
}

// art returns the drawing for a category.
func art(category string) template.HTML {
	return `<svg class="art" viewBox="0 0 120 120" aria-hidden="true">` + drawings[category] + `</svg>`
}
