(function_definition declarator: (_) @declarator) @symbol.function
(declaration declarator: (function_declarator) @declarator) @symbol.declaration
(declaration declarator: (pointer_declarator declarator: (function_declarator)) @declarator) @symbol.declaration
(declaration declarator: (init_declarator declarator: (_) @declarator)) @symbol.variable
(declaration declarator: (identifier) @name) @symbol.variable
(struct_specifier name: (type_identifier) @name body: (_)) @symbol.struct
(union_specifier name: (type_identifier) @name body: (_)) @symbol.union
(enum_specifier name: (type_identifier) @name body: (_)) @symbol.enum
(enumerator name: (identifier) @name) @symbol.member
(type_definition declarator: (_) @declarator) @symbol.type
(field_declaration declarator: (_) @declarator) @symbol.field
(preproc_def name: (identifier) @name) @symbol.macro
(preproc_function_def name: (identifier) @name) @symbol.macro
(preproc_include) @scope.import
