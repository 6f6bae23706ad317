package demoshop

import (
	"html/template"
	"slices"
	"strings"
	"unicode"
)

// product is a product on sale.
type product struct {
	ID       string
	Name     string
	Category string // also the name of its drawing
	Cents    int
	Stock    int // 0 means out of stock
	About    string
	Facts    []fact
	Colours  []string
}

type fact struct{ Name, Value string }

// catalogue is all products in display order.
var catalogue = []product{
	{
		"aurora-desk-lamp", "Aurora Desk Lamp", "Lamps", 4900, 12, "A slim reading lamp with a hinge that stays where you " +
			"leave it.",
		[]fact{{"Light", "450 lumens, dimmable"}, {"Power", "USB-C, 6 W"}, {"Height", "42 cm"}},
		[]string{"Graphite", "Sand", "Red"},
	},
	{"harbour-floor-lamp", "Harbour Floor Lamp", "Lamps", 12900, 5, "A tall arc lamp on a marble foot. It throws its " +
		"light on the table, not in your eyes.", []fact{
		{"Light", "900 lumens"},
		{"Power", "Mains, 12 W"},
		{"Height", "168 cm"},
	}, []string{"Brass", "Black"}},
	{
		"pebble-night-lamp", "Pebble Night Lamp", "Lamps", 2450, 40, "A small round lamp that fades out by itself after " +
			"half an hour.",
		[]fact{{"Light", "60 lumens, warm"}, {"Power", "Battery, 20 h"}, {"Height", "9 cm"}},
		[]string{"White", "Moss"},
	},
	{
		"lantern-camping-lamp", "Lantern Camping Lamp", "Lamps", 3200, 0, "A lantern for tents and power cuts, with a hook " +
			"and a handle.",
		[]fact{{"Light", "300 lumens"}, {"Power", "Battery, 36 h"}, {"Height", "18 cm"}},
		[]string{"Orange"},
	},
	{
		"clip-studio-lamp", "Clip Studio Lamp", "Lamps", 1990, 25, "It clips to a shelf, a board or a music stand.",
		[]fact{{"Light", "220 lumens"}, {"Power", "USB-A, 4 W"}, {"Height", "30 cm"}},
		[]string{"Black", "White"},
	},
	{
		"paper-moon-lamp", "Paper Moon Lamp", "Lamps", 5800, 8, "A pendant of folded paper, one metre across, that " +
			"packs flat.",
		[]fact{{"Light", "E27 bulb, up to 15 W"}, {"Power", "Mains"}, {"Height", "100 cm"}},
		[]string{"White"},
	},
	{
		"walnut-desk", "Walnut Desk", "Desks", 64900, 3, "A solid top, two drawers and a channel for cables.",
		[]fact{{"Size", "140 × 70 cm"}, {"Weight", "38 kg"}},
		[]string{"Walnut", "Oak"},
	},
	{
		"standing-desk", "Rise Standing Desk", "Desks", 84900, 2, "It goes up and down by motor and remembers three heights.",
		[]fact{{"Size", "160 × 80 cm"}, {"Height", "62 to 128 cm"}},
		[]string{"White", "Black"},
	},
	{
		"wall-desk", "Fold Wall Desk", "Desks", 18900, 7, "Folds up to the depth of a picture frame.",
		[]fact{{"Size", "80 × 50 cm"}, {"Weight", "9 kg"}},
		[]string{"Birch"},
	},
	{
		"task-chair", "Loop Task Chair", "Chairs", 32900, 9, "A mesh back, soft arms, and a tilt that follows you.",
		[]fact{{"Seat", "42 to 52 cm"}, {"Carries", "130 kg"}},
		[]string{"Grey", "Blue", "Red"},
	},
	{
		"kitchen-stool", "Tripod Kitchen Stool", "Chairs", 7900, 14, "Three legs, so it never wobbles.",
		[]fact{{"Seat", "65 cm"}, {"Carries", "120 kg"}},
		[]string{"Oak", "Black"},
	},
	{
		"rocking-chair", "Drift Rocking Chair", "Chairs", 45900, 1, "Bent ash and a woven seat. The last one.",
		[]fact{{"Seat", "40 cm"}, {"Carries", "110 kg"}},
		[]string{"Ash"},
	},
	{
		"oak-shelf", "Ladder Shelf", "Shelves", 22900, 6, "Five boards that lean against the wall.",
		[]fact{{"Size", "60 × 190 cm"}, {"Carries", "15 kg a board"}},
		[]string{"Oak", "White"},
	},
	{
		"cube-shelf", "Cube Shelf", "Shelves", 5900, 30, "One box. Stack as many as you like.",
		[]fact{{"Size", "38 × 38 cm"}, {"Carries", "20 kg"}},
		[]string{"White", "Sand", "Moss"},
	},
	{
		"book-rail", "Book Rail", "Shelves", 2900, 0, "A narrow rail that shows covers to the front.",
		[]fact{{"Size", "90 × 9 cm"}, {"Carries", "6 kg"}},
		[]string{"Black"},
	},
	{"wool-blanket", "Fjord Wool Blanket", "Textiles", 9900, 18, "Thick wool from two valleys, washed with nothing " +
		"but water.", []fact{{"Size", "130 × 200 cm"}, {"Weight", "1.4 kg"}}, []string{"Grey", "Rust"}},
	{
		"linen-curtain", "Linen Curtain", "Textiles", 6900, 11, "It lets the morning in and the street out.",
		[]fact{{"Size", "140 × 260 cm"}, {"Wash", "40 °C"}},
		[]string{"White", "Sand"},
	},
	{
		"floor-cushion", "Floor Cushion", "Textiles", 4500, 22, "Firm enough to sit on through a whole film.",
		[]fact{{"Size", "60 × 60 cm"}, {"Wash", "Cover, 30 °C"}},
		[]string{"Rust", "Moss", "Blue"},
	},
	{
		"stone-vase", "Stoneware Vase", "Tableware", 3800, 16, "Thrown by hand, so no two are alike.",
		[]fact{{"Height", "24 cm"}, {"Holds", "1.1 l"}},
		[]string{"White", "Black"},
	},
	{
		"tea-pot", "Quiet Teapot", "Tableware", 4200, 13, "Its spout does not drip. We tried.",
		[]fact{{"Holds", "0.9 l"}, {"Made of", "Stoneware"}},
		[]string{"Sand", "Black"},
	},
	{
		"mug-set", "Mugs, Set of Four", "Tableware", 3600, 27, "Four mugs that stack and fit the dishwasher.",
		[]fact{{"Holds", "0.3 l"}, {"Made of", "Stoneware"}},
		[]string{"White", "Moss"},
	},
	{
		"wall-clock", "Plain Wall Clock", "Things", 5400, 10, "Twelve strokes, two hands, no tick.",
		[]fact{{"Size", "30 cm"}, {"Power", "One AA battery"}},
		[]string{"White", "Black", "Red"},
	},
	{
		"tool-box", "Tin Tool Box", "Things", 3900, 19, "A tray above, a space below, a lock at the side.",
		[]fact{{"Size", "36 × 18 cm"}, {"Weight", "2.1 kg"}},
		[]string{"Red", "Blue"},
	},
	{
		"gift-card", "Gift Card", "Things", 5000, 999, "For somebody who knows better what they want.",
		[]fact{{"Valid", "Three years"}},
		[]string{"Paper"},
	},
}

// findProduct returns the product with the given id.
func findProduct(id string) (product, bool) {
	i := slices.IndexFunc(catalogue, func(p product) bool { return p.ID == id })
	if i < 0 {
		return product{}, false
	}
	return catalogue[i], true
}

// matchProducts returns the products that contain every word of query, in the given category if it is not empty,
// ordered by sort: "price", "-price", or otherwise as in the catalogue. "lamps" matches what "lamp" matches.
func matchProducts(query, category, sort string) []product {
	words := strings.FieldsFunc(strings.ToLower(query), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	var found []product
	for _, p := range catalogue {
		text := strings.ToLower(p.Name + " " + p.Category + " " + p.About)
		fits := func(w string) bool {
			return strings.Contains(text, w) || strings.Contains(text, strings.TrimSuffix(w, "s"))
		}
		if (category == "" || p.Category == category) &&
			!slices.ContainsFunc(words, func(w string) bool { return !fits(w) }) {
			found = append(found, p)
		}
	}
	switch sort {
	case "price":
		slices.SortStableFunc(found, func(a, b product) int { return a.Cents - b.Cents })
	case "-price":
		slices.SortStableFunc(found, func(a, b product) int { return b.Cents - a.Cents })
	}
	return found
}

// categories returns the categories in the order of the catalogue.
func categories() []string {
	var cs []string
	for _, p := range catalogue {
		if !slices.Contains(cs, p.Category) {
			cs = append(cs, p.Category)
		}
	}
	return cs
}

// drawings are the images of the categories: SVG shapes in a square of 120 by 120.
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
