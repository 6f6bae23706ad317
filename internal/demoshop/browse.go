package demoshop

import (
	"fmt"
	"net/http"
	"slices"
)

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
