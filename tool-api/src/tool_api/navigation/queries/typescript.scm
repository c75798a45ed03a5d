(class_declaration name: (type_identifier) @name) @symbol.class
(abstract_class_declaration name: (type_identifier) @name) @symbol.class
(variable_declarator name: (identifier) @name value: (class)) @symbol.class
(interface_declaration name: (type_identifier) @name) @symbol.interface
(type_alias_declaration name: (type_identifier) @name) @symbol.type
(enum_declaration name: (identifier) @name) @symbol.enum
(enum_body (property_identifier) @name @symbol.member)
(enum_assignment name: (property_identifier) @name) @symbol.member
(internal_module name: (identifier) @name) @symbol.namespace
(module name: (_) @name) @symbol.namespace
(function_signature name: (identifier) @name) @symbol.function
(method_signature name: (property_identifier) @name) @symbol.method
(abstract_method_signature name: (property_identifier) @name) @symbol.method
(public_field_definition name: [(property_identifier) (private_property_identifier)] @name) @symbol.field
(property_signature name: (property_identifier) @name) @symbol.field
