package demoshop

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"slices"
	"strconv"
)

//go:embed templates/*.html
var templateFiles embed.FS

//go:embed static
var staticFiles embed.FS

// pages maps the name of a page to its parsed template.
type pages map[string]*template.Template

// Handler returns the shop, to be served at the root of its own origin.
func Handler() http.Handler {
	p := pages{}
	for _, name := range []string{"home", "search", "product", "basket", "checkout", "order", "missing"} {
		funcs := template.FuncMap{"price": formatPrice, "art": art}
		p[name] = template.Must(template.New("layout.html").Funcs(funcs).ParseFS(templateFiles, "templates/layout.html",
			"templates/"+name+".html"))
	}
	static, err := fs.Sub(staticFiles, "static")
	if err != nil { // the folder is embedded
		panic(err)
	}
	mux := http.NewServeMux()
	for _, r := range []struct {
		pattern string
		handle  http.HandlerFunc
	}{
		{"GET /{$}", p.home},
		{"GET /search", p.search},
		{"GET /product/{id}", p.product},
		{"GET /basket", p.basket},
		{"POST /basket", addToBasket},
		{"POST /basket/remove", removeFromBasket},
		{"GET /checkout", p.checkout},
		{"POST /checkout", p.order},
		{"POST /notice", acceptNotice},
		{"/", p.missing},
	} {
		mux.HandleFunc(r.pattern, r.handle)
	}
	mux.Handle("GET /static/", http.StripPrefix("/static/", http.FileServerFS(static)))
	return limitBody(mux)
}

// limitBody limits the size of requests and sets X-Content-Type-Options.
func limitBody(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, 64<<10)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-cache")
		next.ServeHTTP(w, r)
	})
}

// page is the data of every template; Data is that of the specific page.
type page struct {
	Title  string
	Query  string // for the search box
	Count  int    // number of items in the basket
	Notice bool   // the cookie notice has not been answered
	Here   string // where to return after the notice
	Data   any
}

func (p pages) write(w http.ResponseWriter, r *http.Request, status int, name, title string, data any) {
	_, err := r.Cookie(noticeCookie)
	pg := page{Title: title, Query: r.FormValue("q"), Notice: err != nil, Here: "/", Data: data}
	if r.Method == http.MethodGet {
		pg.Here = r.URL.RequestURI()
	}
	if name != "order" {
		pg.Count = readBasket(r).count()
	}
	var b bytes.Buffer
	if err := p[name].Execute(&b, pg); err != nil {
		http.Error(w, "this page could not be made", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // fails only if the client has gone
}

// formatPrice formats cents as euros: "€ 1,249.00".
func formatPrice(cents int) string {
	whole := strconv.Itoa(cents / 100)
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	return fmt.Sprintf("€ %s.%02d", whole, cents%100)
}

func (p pages) home(w http.ResponseWriter, r *http.Request) {
	type shelf struct {
		Name     string
		Products []product
	}
	var shelves []shelf
	for _, c := range categories() {
		all := matchProducts("", c, "")
		shelves = append(shelves, shelf{c, all[:min(4, len(all))]})
	}
	p.write(w, r, http.StatusOK, "home", "Lumen & Oak", map[string]any{"Shelves": shelves})
}

func (p pages) search(w http.ResponseWriter, r *http.Request) {
	query, category, sort := r.FormValue("q"), r.FormValue("category"), r.FormValue("sort")
	if !slices.Contains(categories(), category) {
		category = ""
	}
	found := matchProducts(query, category, sort)
	title := "Everything we have"
	switch {
	case query != "":
		title = fmt.Sprintf("%d results for “%s”", len(found), query)
		if len(found) == 1 {
			title = fmt.Sprintf("1 result for “%s”", query)
		}
	case category != "":
		title = category
	}
	p.write(w, r, http.StatusOK, "search", title, map[string]any{
		"Heading": title, "Query": query, "Found": found, "Category": category, "Categories": categories(), "Sort": sort,
	})
}

func (p pages) product(w http.ResponseWriter, r *http.Request) {
	it, ok := findProduct(r.PathValue("id"))
	if !ok {
		p.missing(w, r)
		return
	}
	more := slices.DeleteFunc(matchProducts("", it.Category, ""), func(o product) bool { return o.ID == it.ID })
	p.write(w, r, http.StatusOK, "product", it.Name, map[string]any{"It": it, "More": more[:min(3, len(more))]})
}

func (p pages) missing(w http.ResponseWriter, r *http.Request) {
	p.write(w, r, http.StatusNotFound, "missing", "There is nothing here", nil)
}
