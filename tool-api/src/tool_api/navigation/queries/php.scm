(class_declaration name: (name) @name) @symbol.class
(interface_declaration name: (name) @name) @symbol.interface
(trait_declaration name: (name) @name) @symbol.trait
(enum_declaration name: (name) @name) @symbol.enum
(enum_case name: (name) @name) @symbol.member
(function_definition name: (name) @name) @symbol.function
(method_declaration name: (name) @name) @symbol.method
(property_element name: (variable_name (name) @name)) @symbol.field
(const_element . (name) @name) @symbol.constant
(namespace_definition name: (namespace_name) @name) @symbol.namespace
(anonymous_function) @scope.function
(arrow_function) @scope.function
(namespace_use_declaration) @scope.import
