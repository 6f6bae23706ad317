// npm: @angular/core@22.2.6 @angular/common@22.2.6 @angular/compiler@22.2.6 @angular/platform-browser@22.2.6 @angular/forms@22.2.6
// npm: @angular/material@22.2.6 @angular/cdk@22.2.6 rxjs@7.8.2 tslib@2.9.1
import "@angular/compiler"; // templates are compiled in the page
import { Component, inject } from "@angular/core";
import { bootstrapApplication } from "@angular/platform-browser";
import { provideNativeDateAdapter } from "@angular/material/core";
import { MatAutocompleteModule } from "@angular/material/autocomplete";
import { MatBottomSheet, MatBottomSheetModule } from "@angular/material/bottom-sheet";
import { MatButtonModule } from "@angular/material/button";
import { MatButtonToggleModule } from "@angular/material/button-toggle";
import { MatCheckboxModule } from "@angular/material/checkbox";
import { MatChipsModule } from "@angular/material/chips";
import { MatDatepickerModule } from "@angular/material/datepicker";
import { MatDialog, MatDialogModule } from "@angular/material/dialog";
import { MatExpansionModule } from "@angular/material/expansion";
import { MatInputModule } from "@angular/material/input";
import { MatListModule } from "@angular/material/list";
import { MatMenuModule } from "@angular/material/menu";
import { MatPaginatorModule } from "@angular/material/paginator";
import { MatRadioModule } from "@angular/material/radio";
import { MatSelectModule } from "@angular/material/select";
import { MatSlideToggleModule } from "@angular/material/slide-toggle";
import { MatSliderModule } from "@angular/material/slider";
import { MatSnackBar } from "@angular/material/snack-bar";
import { MatSortModule } from "@angular/material/sort";
import { MatStepperModule } from "@angular/material/stepper";
import { MatTableModule } from "@angular/material/table";
import { MatTabsModule } from "@angular/material/tabs";
import { MatTreeModule } from "@angular/material/tree";
import "./node_modules/@angular/material/prebuilt-themes/azure-blue.css";
const imports = [MatAutocompleteModule, MatBottomSheetModule, MatButtonModule, MatButtonToggleModule, MatCheckboxModule, MatChipsModule,
  MatDatepickerModule, MatDialogModule, MatExpansionModule, MatInputModule, MatListModule, MatMenuModule, MatPaginatorModule, MatRadioModule,
  MatSelectModule, MatSlideToggleModule, MatSliderModule, MatSortModule, MatStepperModule, MatTableModule, MatTabsModule, MatTreeModule];
const mount = (template, root) => {
  root.append(document.createElement('app-root'));
  const App = class {
    done = window.done; undone = () => done('undone'); bar = inject(MatSnackBar); dialog = inject(MatDialog); sheet = inject(MatBottomSheet);
    start = new Date(2026, 2, 1); text = ''; fruit = ["Apple", "Banana", "Cherry"]; people = [{ name: "Ada", age: 36 }, { name: "Bob", age: 41 }];
    like(list) { return list.filter(x => x.toLowerCase().includes(this.text)) }
    nodes = [{ name: "Fruit", parts: [{ name: "Pear" }] }]; parts = n => n.parts ?? []; hasParts = (i, n) => !!n.parts;
  };
  bootstrapApplication(Component({ selector: 'app-root', template, imports })(App), { providers: [provideNativeDateAdapter()] }).catch(e => done(String(e)));
};

//== select
//say choose Banana in Fruit
//do click combobox "Fruit"
//do click option "Banana"
//is result === 'Banana'
return `<mat-form-field><mat-label>Fruit</mat-label><mat-select (selectionChange)="done($event.value)">@for (f of fruit; track f) {<mat-option [value]="f">{{f}}</mat-option>}</mat-select></mat-form-field>`

//== select-multiple
//say choose Apple and Cherry in Fruit
//do click combobox "Fruit"
//do click option "Apple"
//do click option "Cherry"
//is result === 'Apple,Cherry'
return `<mat-form-field><mat-label>Fruit</mat-label><mat-select multiple (selectionChange)="done($event.value.join())">@for (f of fruit; track f) {<mat-option [value]="f">{{f}}</mat-option>}</mat-select></mat-form-field>`

//== autocomplete
//say type err into Fruit and pick Cherry
//do slowly combobox "Fruit" = err
//do gone Banana
//do click option "Cherry"
//is result === 'Cherry'
return `<mat-form-field><mat-label>Fruit</mat-label><input #i matInput [matAutocomplete]="a" (input)="text = i.value"></mat-form-field>
  <mat-autocomplete #a (optionSelected)="done($event.option.value)">@for (f of like(fruit); track f) {<mat-option [value]="f">{{f}}</mat-option>}</mat-autocomplete>`

//== datepicker
//say open the calendar, go to the next month and pick 14 April
//do click button "Open calendar"
//do click button "Next month"
//do click button "April 14, 2026"
//is result === '4/14'
return `<mat-form-field><mat-label>Day</mat-label><input matInput [matDatepicker]="p" (dateChange)="done($event.value.getMonth() + 1 + '/' + $event.value.getDate())">
  <mat-datepicker-toggle matSuffix [for]="p" /><mat-datepicker #p [startAt]="start" /></mat-form-field>`

//== menu
//say open Options, then Share, then click Mail
//do click button "Options"
//do click menuitem "Share"
//do click menuitem "Mail"
//is result === 'mail'
return `<button mat-button [matMenuTriggerFor]="m">Options</button><mat-menu #m><button mat-menu-item>New</button><button mat-menu-item [matMenuTriggerFor]="s">Share</button></mat-menu>
  <mat-menu #s><button mat-menu-item (click)="done('mail')">Mail</button></mat-menu>`

//== dialog
//say click Delete and then Agree
//do click button "Delete"
//do click button "Agree"
//is result === 'agreed'
return `<button mat-button (click)="dialog.open(t)">Delete</button><ng-template #t><h2 mat-dialog-title>Sure?</h2><mat-dialog-actions>
  <button mat-button mat-dialog-close>No</button><button mat-button mat-dialog-close (click)="done('agreed')">Agree</button></mat-dialog-actions></ng-template>`

//== bottom-sheet
//say click Share and choose Copy link
//do click button "Share"
//do click * "Copy link"
//is result === 'copied'
return `<button mat-button (click)="sheet.open(t)">Share</button><ng-template #t><mat-nav-list><a mat-list-item (click)="done('copied')">Copy link</a></mat-nav-list></ng-template>`

//== snack-bar
//say click Remove and then Undo
//do click button "Remove"
//do click button "Undo"
//is result === 'undone'
return `<button mat-button (click)="bar.open('Removed', 'Undo').onAction().subscribe(undone)">Remove</button>`

//== checkbox
//say tick Terms
//do click checkbox "Terms"
//is result === true
return `<mat-checkbox (change)="done($event.checked)">Terms</mat-checkbox>`

//== slide-toggle
//say turn Wifi on
//do click switch "Wifi"
//is result === true
return `<mat-slide-toggle (change)="done($event.checked)">Wifi</mat-slide-toggle>`

//== radio
//say pick Cherry
//do click radio "Cherry"
//is result === 'Cherry'
return `<mat-radio-group aria-label="Fruit" (change)="done($event.value)">@for (f of fruit; track f) {<mat-radio-button [value]="f">{{f}}</mat-radio-button>}</mat-radio-group>`

//== button-toggle
//say choose Right
//do click radio "Right"
//is result === 'right'
return `<mat-button-toggle-group aria-label="Align" (change)="done($event.value)"><mat-button-toggle value="left">Left</mat-button-toggle><mat-button-toggle value="right">Right</mat-button-toggle></mat-button-toggle-group>`

//== tabs
//say open the Billing tab and click Pay
//do click tab "Billing"
//do click button "Pay"
//is result === 'paid'
return `<mat-tab-group animationDuration="0"><mat-tab label="Profile">Ada</mat-tab><mat-tab label="Billing"><button mat-button (click)="done('paid')">Pay</button></mat-tab></mat-tab-group>`

//== chips-listbox
//say select Banana
//do click option "Banana"
//is result === 'Banana'
return `<mat-chip-listbox aria-label="Fruit" (change)="done($event.value)">@for (f of fruit; track f) {<mat-chip-option [value]="f">{{f}}</mat-chip-option>}</mat-chip-listbox>`

//== chips-remove
//say remove Banana
//do click button "Remove Banana"
//is result === 'Banana'
return `<mat-chip-grid aria-label="Fruit">@for (f of fruit; track f) {<mat-chip-row (removed)="done(f)">{{f}}<button matChipRemove [attr.aria-label]="'Remove ' + f">x</button></mat-chip-row>}</mat-chip-grid>`

//== chips-add
//say type blue into New tag and press Enter
//do type textbox "New tag" = blue
//do press Enter
//is result === 'blue'
return `<mat-form-field><mat-chip-grid #g aria-label="Tags" /><input aria-label="New tag" [matChipInputFor]="g" (matChipInputTokenEnd)="done($event.value)"></mat-form-field>`

//== slider
//say set the volume to 70
//do type slider "Volume" = 70
//is result === 70
return `<mat-slider><input matSliderThumb aria-label="Volume" value="30" (valueChange)="done($event)"></mat-slider>`

//== table-sort
//say sort by Age
//do click button "Age"
//is result === 'age asc'
return `<table mat-table [dataSource]="people" matSort (matSortChange)="done($event.active + ' ' + $event.direction)">
  <ng-container matColumnDef="name"><th mat-header-cell *matHeaderCellDef mat-sort-header>Name</th><td mat-cell *matCellDef="let p">{{p.name}}</td></ng-container>
  <ng-container matColumnDef="age"><th mat-header-cell *matHeaderCellDef mat-sort-header>Age</th><td mat-cell *matCellDef="let p">{{p.age}}</td></ng-container>
  <tr mat-header-row *matHeaderRowDef="['name', 'age']"></tr><tr mat-row *matRowDef="let row; columns: ['name', 'age']"></tr></table>`

//== paginator
//say set Items per page to 20 and go to the next page
//do click combobox "Items per page"
//do click option "20"
//do click button "Next page"
//is result === '1 of 20'
return `<mat-paginator [length]="100" [pageSize]="10" [pageSizeOptions]="[10, 20]" (page)="done($event.pageIndex + ' of ' + $event.pageSize)" />`

//== stepper
//say click Next, go to Pay and click Pay now
//do click button "Next"
//do click tab "Pay"
//do click button "Pay now"
//is result === 'paid'
return `<mat-stepper animationDuration="0"><mat-step label="Address"><button mat-button matStepperNext>Next</button></mat-step><mat-step label="Check">Check</mat-step><mat-step label="Pay"><button mat-button (click)="done('paid')">Pay now</button></mat-step></mat-stepper>`

//== expansion-panel
//say expand Details and click Buy
//do click button "Details"
//do click button "Buy"
//is result === 'bought'
return `<mat-expansion-panel><mat-expansion-panel-header><mat-panel-title>Details</mat-panel-title></mat-expansion-panel-header><button mat-button (click)="done('bought')">Buy</button></mat-expansion-panel>`

//== selection-list
//say select Banana
//do click option "Banana"
//is result === 'Banana'
return `<mat-selection-list aria-label="Fruit" (selectionChange)="done($event.options[0].value)">@for (f of fruit; track f) {<mat-list-option [value]="f">{{f}}</mat-list-option>}</mat-selection-list>`

//== selection-list-multiple
//say select Banana and Cherry in Fruit
//do select listbox "Fruit" = Banana|Cherry
//is result === 'Banana,Cherry'
return `<mat-selection-list #all aria-label="Fruit" (selectionChange)="done($event.source._value.join())">@for (f of fruit; track f) {<mat-list-option [value]="f">{{f}}</mat-list-option>}</mat-selection-list>`

//== tree
//say expand Fruit and click Pear
//do click button "Open Fruit"
//do click treeitem "Pear"
//is result === 'Pear'
return `<mat-tree [dataSource]="nodes" [childrenAccessor]="parts"><mat-tree-node *matTreeNodeDef="let n" matTreeNodePadding (click)="done(n.name)">{{n.name}}</mat-tree-node>
  <mat-tree-node *matTreeNodeDef="let n; when: hasParts" matTreeNodePadding isExpandable><button mat-button matTreeNodeToggle [attr.aria-label]="'Open ' + n.name">+</button>{{n.name}}</mat-tree-node></mat-tree>`
