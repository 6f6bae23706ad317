// npm: react@19.3.1 react-dom@19.3.1 ag-grid-community@36.2.0 @tanstack/react-table@8.21.3 @tanstack/react-virtual@3.14.26
// npm: handsontable@18.1.1 tabulator-tables@6.5.3 @mui/x-data-grid@9.17.0 @mui/material@9.5.0 @emotion/react@11.14.0 @emotion/styled@11.14.1
import React, { useState, useRef } from "react";
import { createRoot } from "react-dom/client";
import { createGrid, ModuleRegistry, AllCommunityModule } from "ag-grid-community";
import { useReactTable, getCoreRowModel, getSortedRowModel, getFilteredRowModel, getPaginationRowModel, flexRender } from "@tanstack/react-table";
import { useVirtualizer } from "@tanstack/react-virtual";
import Handsontable from "handsontable";
import "handsontable/styles/handsontable.css";
import "handsontable/styles/ht-theme-main.css";
import { TabulatorFull } from "tabulator-tables";
import "tabulator-tables/dist/css/tabulator.css";
import { DataGrid } from "@mui/x-data-grid";
ModuleRegistry.registerModules([AllCommunityModule]);
const mount = (el, root) => createRoot(root).render(el);
const cars = [["Toyota", 35000], ["Ford", 32000], ["Porsche", 72000]].map(([make, price]) => ({ make, price }));
const grid = opts => { root.style.cssText = 'height:400px;width:700px'; window.api = createGrid(root, { columnDefs: [{ field: 'make' }, { field: 'price' }], rowData: cars, ...opts }); };
const first = () => api.getDisplayedRowAtIndex(0).data.make;
window.first = () => first();
function Table({ cols, size = 10, data = cars }) {
  const [filter, set] = useState('');
  const t = useReactTable({ data, columns: cols, state: { globalFilter: filter }, onGlobalFilterChange: set, initialState: { pagination: { pageSize: size } },
    getCoreRowModel: getCoreRowModel(), getSortedRowModel: getSortedRowModel(), getFilteredRowModel: getFilteredRowModel(), getPaginationRowModel: getPaginationRowModel() });
  window.rows = () => t.getRowModel().rows.map(r => r.original.make).join();
  return <><input placeholder="Filter" value={filter} onChange={e => set(e.target.value)} /><table><thead>{t.getHeaderGroups().map(g => <tr key={g.id}>{g.headers.map(h =>
    <th key={h.id} onClick={h.column.getToggleSortingHandler()}>{flexRender(h.column.columnDef.header, h.getContext())}</th>)}</tr>)}</thead>
    <tbody>{t.getRowModel().rows.map(r => <tr key={r.id}>{r.getVisibleCells().map(c => <td key={c.id}>{flexRender(c.column.columnDef.cell, c.getContext())}</td>)}</tr>)}</tbody></table>
    <button disabled={!t.getCanNextPage()} onClick={() => t.nextPage()}>Next</button></>;
}
const cols = [{ accessorKey: 'make', header: 'Make' }, { accessorKey: 'price', header: 'Price' }];
function Virtual({ count, horizontal }) {
  const ref = useRef(null); const v = useVirtualizer({ count, horizontal, getScrollElement: () => ref.current, estimateSize: () => horizontal ? 90 : 35 });
  return <div ref={ref} aria-label="Rows" role="region" tabIndex={0} style={{ height: 300, width: 400, overflow: 'auto' }}><div style={{ [horizontal ? 'width' : 'height']: v.getTotalSize(), height: horizontal ? 40 : v.getTotalSize(), position: 'relative' }}>
    {v.getVirtualItems().map(i => <button key={i.key} style={{ position: 'absolute', top: horizontal ? 0 : i.start, left: horizontal ? i.start : 0, height: 35, width: 90 }} onClick={() => done(i.index)}>Row {i.index}</button>)}</div></div>;
}

//== ag-sort
//say sort by price
//do click generic "Price"
//is first() === 'Ford'
grid()

//== ag-edit
//say double-click Ford, type Fiat and press Enter
//do dblclick gridcell "Ford"
//do type textbox "Input Editor" = Fiat
//do press Enter
//is result === 'Fiat'
grid({ defaultColDef: { editable: true }, onCellValueChanged: e => done(e.newValue) })

//== ag-type
//say change Ford to Fiat and press Enter
//do type gridcell "Ford" = Fiat
//do press Enter
//is result === 'Fiat'
grid({ defaultColDef: { editable: true }, onCellValueChanged: e => done(e.newValue) })

//== ag-type-slowly
//say type Fiat into the Ford cell and press Enter
//do slowly gridcell "Ford" = Fiat
//do press Enter
//is result === 'Fiat'
grid({ defaultColDef: { editable: true }, onCellValueChanged: e => done(e.newValue) })

//== handsontable-type
//say change Ford to Fiat and press Enter
//do type gridcell "Ford" = Fiat
//do press Enter
//is result === 'Fiat'
new Handsontable(root, { data: cars.map(c => [c.make, c.price]), colHeaders: true, themeName: 'ht-theme-main', licenseKey: 'non-commercial-and-evaluation', afterChange: c => c && done(c[0][3]) });

//== tabulator-type
//say set Ford to Fiat and press Enter
//do type gridcell "Ford" = Fiat
//do press Enter
//is result === 'Fiat'
new TabulatorFull(root, { data: cars, columns: [{ title: 'Make', field: 'make', editor: 'input' }, { title: 'Price', field: 'price' }] }).on('cellEdited', c => done(c.getValue()));

//== muix-type
//say type Fiat into Ford and press Enter
//do type gridcell "Ford" = Fiat
//do press Enter
//is result === 'Fiat'
return <DataGrid rows={cars.map((c, id) => ({ id, ...c }))} columns={[{ field: 'make', editable: true }, { field: 'price' }]} processRowUpdate={r => { done(r.make); return r; }} />

//== ag-select
//say tick the Porsche row
//do click checkbox in row "Porsche"
//is result === 'Porsche'
grid({ rowSelection: { mode: 'multiRow' }, onSelectionChanged: e => done(e.api.getSelectedRows().map(r => r.make).join()) })

//== ag-floating-filter
//say type por into the Make filter
//do type textbox "Make Filter Input" = por
//is api.getDisplayedRowCount() === 1
grid({ defaultColDef: { filter: true, floatingFilter: true } })

//== ag-paging
//say go to the next page and click Car 13
//do click button "Next Page"
//do click gridcell "Car 13"
//is result === 'Car 13'
grid({ rowData: Array.from({ length: 30 }, (x, i) => ({ make: 'Car ' + i })), pagination: true, paginationPageSize: 10, paginationPageSizeSelector: [10, 20], onCellClicked: e => done(e.value) })

//== ag-scroll
//say scroll to Car 180 and click it
//do scroll gridcell -> gridcell "Car 180"
//do click gridcell "Car 180"
//is result === 'Car 180'
grid({ rowData: Array.from({ length: 300 }, (x, i) => ({ make: 'Car ' + i })), onCellClicked: e => done(e.value) })

//== ag-row-drag
//say drag Toyota to Porsche
//do drag gridcell "Toyota" -> gridcell "Porsche"
//is result
grid({ rowDragManaged: true, rowDragEntireRow: true, onRowDragEnd: () => done(first()) })

//== tanstack-sort
//say sort by Make
//do click columnheader "Make"
//is rows() === 'Ford,Porsche,Toyota'
return <Table cols={cols} />

//== tanstack-filter
//say type por into Filter
//do type textbox "Filter" = por
//is rows() === 'Porsche'
return <Table cols={cols} />

//== tanstack-page
//say go to the next page
//do click button "Next"
//is rows() === 'Porsche'
return <Table cols={cols} size={2} />

//== tanstack-row-action
//say delete the Ford row
//do click button "Delete" in row "Ford"
//is result === 'Ford'
return <Table cols={[...cols, { id: 'x', header: '', cell: c => <button onClick={() => done(c.row.original.make)}>Delete</button> }]} />

//== tanstack-edit
//say type Tesla into the field in the Toyota row
//do type textbox in row "Toyota" = Tesla
//is result === 'Toyota→Tesla'
return <Table cols={[{ accessorKey: 'make', header: 'Make' }, { id: 'e', header: 'New', cell: c => <input onChange={e => done(c.row.original.make + '→' + e.target.value)} /> }]} />

//== virtual-rows
//say scroll to Row 120 and click it
//do scroll region "Rows" -> button "Row 120"
//do click button "Row 120"
//is result === 120
return <Virtual count={10000} />

//== virtual-columns
//say scroll right to Row 20 and click it
//do click region "Rows"
//do press ArrowRight 40
//do see Row 20
//do click button "Row 20"
//is result === 20
return <Virtual count={100} horizontal />

//== virtual-end
//say click Rows, press End and click Row 9999
//do click region "Rows"
//do press End
//do click button "Row 9999"
//is result === 9999
return <Virtual count={10000} />
