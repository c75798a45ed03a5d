(class_declaration name: (identifier) @name) @symbol.class
(record_declaration name: (identifier) @name) @symbol.class
(interface_declaration name: (identifier) @name) @symbol.interface
(annotation_type_declaration name: (identifier) @name) @symbol.interface
(enum_declaration name: (identifier) @name) @symbol.enum
(enum_constant name: (identifier) @name) @symbol.member
(constructor_declaration name: (identifier) @name) @symbol.constructor
(compact_constructor_declaration name: (identifier) @name) @symbol.constructor
(method_declaration name: (identifier) @name) @symbol.method
(field_declaration declarator: (variable_declarator name: (identifier) @name)) @symbol.field
(lambda_expression) @scope.function
(import_declaration) @scope.import
