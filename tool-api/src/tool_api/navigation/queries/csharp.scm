(class_declaration name: (identifier) @name) @symbol.class
(record_declaration name: (identifier) @name) @symbol.class
(struct_declaration name: (identifier) @name) @symbol.struct
(interface_declaration name: (identifier) @name) @symbol.interface
(enum_declaration name: (identifier) @name) @symbol.enum
(enum_member_declaration name: (identifier) @name) @symbol.member
(delegate_declaration name: (identifier) @name) @symbol.type
(namespace_declaration name: (_) @name) @symbol.namespace
(file_scoped_namespace_declaration name: (_) @name) @symbol.namespace
(constructor_declaration name: (identifier) @name) @symbol.constructor
(method_declaration name: (identifier) @name) @symbol.method
(property_declaration name: (identifier) @name) @symbol.property
(event_declaration name: (identifier) @name) @symbol.property
(field_declaration (variable_declaration (variable_declarator name: (identifier) @name))) @symbol.field
(event_field_declaration (variable_declaration (variable_declarator name: (identifier) @name))) @symbol.field
(local_function_statement name: (identifier) @name) @symbol.function
(lambda_expression) @scope.function
(using_directive) @scope.import
